package io.penstock.node.cli;

/// A service that a command needs does not answer; the command ends with [ExitCode#UNAVAILABLE].
public final class UnavailableException extends RuntimeException {
  public UnavailableException(String message) {
    super(message);
  }

  public UnavailableException(String message, Throwable cause) {
    super(message, cause);
  }
}
