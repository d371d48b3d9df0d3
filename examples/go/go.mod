module example/census

go 1.19
