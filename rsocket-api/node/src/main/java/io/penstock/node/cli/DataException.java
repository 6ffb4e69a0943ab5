package io.penstock.node.cli;

/// An input file has another form than required: *file, line N must be rule (was value)*.
public class DataException extends RuntimeException {
  public DataException(String message) {
    super(message);
  }

  public DataException(String message, Throwable cause) {
    super(message, cause);
  }
}
