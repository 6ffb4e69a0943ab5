package io.penstock.node.cli;

/// A node does not take the credentials that it was shown.
public final class RefusedException extends RuntimeException {
  public RefusedException(String message) {
    super(message);
  }

  public RefusedException(String message, Throwable cause) {
    super(message, cause);
  }
}
