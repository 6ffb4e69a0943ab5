package io.penstock.node.cli;

/// The exit codes of every command. Those from 64 on are those of `sysexits.h`.
public final class ExitCode {
  /// Done, nothing wrong found.
  public static final int OK = 0;
  /// Done, and something is wrong: a mismatch, a missing block, a failed check.
  public static final int FOUND_FAILURE = 1;
  /// The command line or the configuration makes no sense.
  public static final int USAGE = 2;
  /// A file that was to be read is not of its form: a trace that is none.
  public static final int DATA = 65;
  /// Nobody answers where a node was expected, or the node went away or is draining; or a node does not get the memory that it must have.
  public static final int UNAVAILABLE = 69;
  /// A mistake of the program itself.
  public static final int INTERNAL = 70;
  /// A file, folder or stream could not be read or written, or another process has it.
  public static final int INPUT_OUTPUT = 74;

  private ExitCode() {}
}
