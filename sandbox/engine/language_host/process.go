package main

import (
	"os"
	"os/exec"
	"syscall"
	"time"
)

// interruptGrace is how long an interrupted program may take to end before it is killed.
const interruptGrace = 5 * time.Second

// interruptible makes the end of a command's context a SIGTERM, so that the program can close what
// it has open; after interruptGrace it is killed. Not a SIGINT: Python answers that with the
// traceback of a KeyboardInterrupt, which would bury the error that ended the update.
func interruptible(command *exec.Cmd) {
	command.Cancel = func() error {
		if command.Process.Signal(syscall.SIGTERM) != nil {
			return command.Process.Kill()
		}
		return nil
	}
	command.WaitDelay = interruptGrace
}

// endWithChildren ends this process and everything it started, without grace: the engine is dead,
// so nobody is left to answer a program or to read its output.
//
// The engine makes every plugin the leader of a process group, which the plugin's children join.
// A host that somebody started by hand leads no group; then only this process ends here, and its
// children through their context.
func endWithChildren() {
	if pid := os.Getpid(); syscall.Getpgrp() == pid {
		_ = syscall.Kill(-pid, syscall.SIGKILL)
	}
	time.Sleep(interruptGrace)
	os.Exit(1)
}
