// Go: goroutines on one processor. The loops are those of bench/peers/loops.h.
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
)

const lockers = 100

func report(name string, value float64) { fmt.Printf("%s %.3f\n", name, value) }

func fail(why string) {
	fmt.Fprintln(os.Stderr, "Go:", why)
	os.Exit(1)
}

func nanoseconds(start, end time.Time, count int) float64 {
	return float64(end.Sub(start).Nanoseconds()) / float64(count)
}

// A gate through which all goroutines go when the last has come. With one processor they need no atomics, but for
// preemption, which comes every 10 ms at the earliest, at calls; what is shared is written in one statement.
type gate struct {
	threads, arrived, ended int
	start, end              time.Time
	all                     sync.WaitGroup
}

func newGate(threads int) *gate {
	g := &gate{threads: threads}
	g.all.Add(threads)
	return g
}

func (g *gate) pass() {
	g.arrived++
	if g.arrived == g.threads {
		g.start = time.Now()
	}
	for g.arrived < g.threads {
		runtime.Gosched()
	}
}

func (g *gate) finish() {
	g.ended++
	if g.ended == g.threads {
		g.end = time.Now()
	}
	g.all.Done()
}

func each(count, threads int) int {
	if count < threads {
		return 1
	}
	return count / threads
}

func yieldAmong(name string, threads, count int) {
	g := newGate(threads)
	turns, share := 0, each(count, threads)
	for i := 0; i < threads; i++ {
		go func() {
			g.pass()
			for i := 0; i < share; i++ {
				turns++
				runtime.Gosched()
			}
			if turns-share < share/2*(threads-1) {
				fail("a yield lets nobody else run")
			}
			g.finish()
		}()
	}
	g.all.Wait()
	report(name, nanoseconds(g.start, g.end, threads*share))
}

func createJoin(count int) {
	start := time.Now()
	for i := 0; i < count; i++ {
		var thread sync.WaitGroup
		thread.Add(1)
		go func() { thread.Done() }()
		thread.Wait()
	}
	report("create_join", nanoseconds(start, time.Now(), count))
}

var shared, other sync.Mutex

func mutex(count int) {
	changed := sync.NewCond(&other)
	state, arrived := 0, false
	var thread sync.WaitGroup
	thread.Add(1)
	go func() {
		other.Lock()
		arrived = true
		for state == 0 {
			changed.Wait()
		}
		other.Unlock()
		thread.Done()
	}()
	for !arrived {
		runtime.Gosched()
	}
	start := time.Now()
	for i := 0; i < count; i++ {
		shared.Lock()
		shared.Unlock()
	}
	report("mutex", nanoseconds(start, time.Now(), count))
	other.Lock()
	state = 1
	changed.Signal()
	other.Unlock()
	thread.Wait()
}

func condition(count int) {
	g := newGate(2)
	changed := sync.NewCond(&shared)
	state := 0
	for side := 0; side < 2; side++ {
		side := side
		go func() {
			g.pass()
			shared.Lock()
			for i := 0; i < count; i++ {
				for state != side {
					changed.Wait()
				}
				state = 1 - side
				changed.Signal()
			}
			shared.Unlock()
			g.finish()
		}()
	}
	g.all.Wait()
	report("condition", nanoseconds(g.start, g.end, 2*count))
}

func lockAmong(name string, count int, held bool) {
	g := newGate(lockers)
	counted, share := 0, each(count, lockers)
	for i := 0; i < lockers; i++ {
		go func() {
			g.pass()
			for i := 0; i < share; i++ {
				shared.Lock()
				counted++
				if held {
					runtime.Gosched()
				}
				shared.Unlock()
				if !held {
					runtime.Gosched()
				}
			}
			g.finish()
		}()
	}
	g.all.Wait()
	if counted != lockers*share {
		fail("a lock that two had at once")
	}
	report(name, nanoseconds(g.start, g.end, counted))
}

// A number of bytes out of a file of the kernel.
func kernelSays(file, name string) float64 {
	open, err := os.Open(file)
	if err != nil {
		fail(err.Error())
	}
	defer open.Close()
	for lines := bufio.NewScanner(open); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == name {
			kilobytes, _ := strconv.ParseFloat(fields[1], 64)
			return kilobytes * 1024
		}
	}
	return 0
}

func memory(count int) {
	const process, machine = "/proc/self/status", "/proc/meminfo"
	changed := sync.NewCond(&shared)
	state, arrived := 0, 0
	var all sync.WaitGroup
	all.Add(count)
	runtime.GC()
	resident, tables := kernelSays(process, "VmRSS:"), kernelSays(process, "VmPTE:")
	stacks := kernelSays(machine, "KernelStack:")
	start := time.Now()
	for i := 0; i < count; i++ {
		go func() {
			shared.Lock()
			arrived++
			for state == 0 {
				changed.Wait()
			}
			shared.Unlock()
			all.Done()
		}()
	}
	report("create", nanoseconds(start, time.Now(), count))
	for arrived < count {
		runtime.Gosched()
	}
	report("resident_bytes", (kernelSays(process, "VmRSS:")-resident)/float64(count))
	report("table_bytes", (kernelSays(process, "VmPTE:")-tables)/float64(count))
	report("kernel_stack_bytes", (kernelSays(machine, "KernelStack:")-stacks)/float64(count))
	shared.Lock()
	state = 1
	changed.Broadcast()
	shared.Unlock()
	all.Wait()
}

var loops = []struct {
	name  string
	run   func(count int)
	count int
}{
	{"yield_2", func(count int) { yieldAmong("yield_2", 2, count) }, 2000000},
	{"yield_100", func(count int) { yieldAmong("yield_100", 100, count) }, 2000000},
	{"yield_10000", func(count int) { yieldAmong("yield_10000", 10000, count) }, 2000000},
	{"create_join", createJoin, 100000},
	{"mutex", mutex, 10000000},
	{"condition", condition, 200000},
	{"lock", func(count int) { lockAmong("lock", count, false) }, 200000},
	{"lock_held", func(count int) { lockAmong("lock_held", count, true) }, 200000},
	{"memory", memory, 10000},
}

func main() {
	runtime.GOMAXPROCS(1)
	if len(os.Args) < 2 {
		fmt.Println("Go", strings.TrimPrefix(runtime.Version(), "go"))
	}
	for _, loop := range loops {
		if len(os.Args) < 2 {
			fmt.Println(loop.name, loop.count)
		} else if os.Args[1] == loop.name {
			count := loop.count
			if len(os.Args) > 2 {
				count, _ = strconv.Atoi(os.Args[2])
			}
			loop.run(count)
			return
		}
	}
	if len(os.Args) > 1 {
		fail("no such loop")
	}
}
