/** The patch format as a Lark grammar, for wires that can hold a model to one. */
export const patchGrammar = `start: begin_patch section+ end_patch
begin_patch: "*** Begin Patch" LF
end_patch: "*** End Patch" LF?

section: add_section | delete_section | update_section
add_section: "*** Add File: " filename LF add_line+
delete_section: "*** Delete File: " filename LF
update_section: "*** Update File: " filename LF move_line? change?

filename: /(.+)/
add_line: "+" /(.*)/ LF -> line

move_line: "*** Move to: " filename LF
change: (change_context | change_line)+ eof_line?
change_context: ("@@" | "@@ " /(.+)/) LF
change_line: ("+" | "-" | " ") /(.*)/ LF
eof_line: "*** End of File" LF

%import common.LF
`;
