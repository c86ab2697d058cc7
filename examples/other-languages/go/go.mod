module lock

go 1.21
