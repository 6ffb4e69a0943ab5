package io.penstock.node.cli;

/// A file that was to be read is not of its form: *file, line N must be rule (was value)*.
public class DataException extends RuntimeException {
  public DataException(String message) {
    super(message);
  }

  public DataException(String message, Throwable cause) {
    super(message, cause);
  }
}
