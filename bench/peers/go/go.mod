module catapults/bench/go

go 1.19
