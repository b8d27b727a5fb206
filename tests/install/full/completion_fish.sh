says explore fish -c 'complete -C "catapults explo"'
says --fair fish -c 'complete -C "catapults explore --fa"'
