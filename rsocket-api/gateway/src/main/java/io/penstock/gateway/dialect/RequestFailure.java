package io.penstock.gateway.dialect;

import org.jspecify.annotations.Nullable;

/// A request that a dialect could not send to an engine.
public final class RequestFailure extends RuntimeException {
  private static final int BAD_REQUEST = 400;
  private static final int UNAVAILABLE = 503;
  private static final long serialVersionUID = 1;

  private final int status;
  private final String told;
  private final @Nullable String param;

  private RequestFailure(int status, String told, String more, @Nullable String param) {
    super(told + more);
    this.status = status;
    this.told = told;
    this.param = param;
  }

  /// The request is at fault.
  ///
  /// @param param the field that is
  static RequestFailure ofRequest(String message, String param) {
    return new RequestFailure(BAD_REQUEST, message, "", param);
  }

  /// The engines are at fault.
  ///
  /// @param told for clients
  /// @param more for operators: where the engines are
  static RequestFailure ofEngines(String told, String more) {
    return new RequestFailure(UNAVAILABLE, told, more, null);
  }

  /// The status for the client: 400 when the request is at fault, 503 when an engine is not ready yet.
  public int status() {
    return status;
  }

  /// The failure for clients, without the addresses of engines.
  public String told() {
    return told;
  }

  /// The field of the request that is at fault; null if none is.
  public @Nullable String param() {
    return param;
  }
}
