//go:build !linux

package memory

// dropProgram can say nothing to other kernels.
func dropProgram() {}
