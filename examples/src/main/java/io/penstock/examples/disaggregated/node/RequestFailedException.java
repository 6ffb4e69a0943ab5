package io.penstock.examples.disaggregated.node;

/// A node could not serve a request; it continues with others.
final class RequestFailedException extends RuntimeException {
  private static final long serialVersionUID = 1;

  RequestFailedException(Reply.Failure failure) {
    super("request %s must be served (failed with %s: %s)".formatted(failure.request(), failure.type(),
        failure.message()));
  }
}
