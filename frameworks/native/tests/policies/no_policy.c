int something_else = 1;
