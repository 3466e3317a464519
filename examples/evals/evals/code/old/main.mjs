console.log('used');
