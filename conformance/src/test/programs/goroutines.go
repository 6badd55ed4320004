// A Go program that works on stacks of goroutines and, in its run time, on those of threads.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

var sink int
var kept []byte

//go:noinline
func spin() {
	for i := 0; i < 20000; i++ {
		sink += i ^ sink
	}
}

//go:noinline
func middle() { spin(); sink++ }

//go:noinline
func allocate() {
	for i := 0; i < 20; i++ {
		kept = make([]byte, 40000)
	}
}

//go:noinline
func clock() {
	for i := 0; i < 300; i++ {
		sink += time.Now().Nanosecond() & 1
	}
}

func main() {
	millis, _ := strconv.Atoi(os.Args[1])
	end := time.Now().Add(time.Duration(millis) * time.Millisecond)
	done := make(chan int)
	go func() {
		for time.Now().Before(end) {
			middle()
			allocate()
			clock()
			time.Sleep(time.Millisecond)
		}
		done <- 1
	}()
	<-done
	fmt.Println("sum", sink)
}
