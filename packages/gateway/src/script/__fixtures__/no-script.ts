export default { title: 'not a script' };
