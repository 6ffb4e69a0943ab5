package io.penstock.gateway.dialect;

/// A request that a dialect could not send to an engine.
public final class RequestFailure extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int status;

  RequestFailure(int status, String message) {
    super(message);
    this.status = status;
  }

  /// The status for the client: 400 when the request is at fault, 503 when an engine is not ready yet.
  public int status() {
    return status;
  }
}
