// Package memory keeps the program small on a box that has little: garbage is collected as often as its share of the processor
// allows, and what only the start needed of the program's file is not held on to.
//
// pace.go: how early garbage is collected; program_linux.go: the pages of the program's own file.
//
// # Decisions
//
// Nearly all of the heap lives as long as the program, so that the runtime's own hundred percent would double the memory of a large
// site to spare it a hundredth of a core; a constant fifteen costs a site with two thousand devices, or one with a busy broker, a
// third of what it does. So the percentage follows what collecting takes of the work that is done, between both, and never takes
// more than half of what is left below the runtime's limit (GOMEMLIMIT). Whoever sets GOGC has it as it is set.
//
// Of the pages of the program's file that are mapped a third was needed by the start alone: reading the configuration, the
// tables and checks of packages, a first handshake. They are given up some seconds after the start, and every hour, when somebody may have
// looked at the page. What is needed is there again at the next touch, from the cache; what is not, the kernel may take. Where the build
// found a C compiler, the program has the system's C library as well, of which it needs nothing after the start: 1.3 MiB more.
package memory
