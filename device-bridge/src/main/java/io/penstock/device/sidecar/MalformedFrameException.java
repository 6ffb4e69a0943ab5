package io.penstock.device.sidecar;

/// Bytes that are no frame of this version.
final class MalformedFrameException extends Exception {
  private final SideCarCode code;
  private final long request;

  /// @param request that it was, 0 if that could not be read
  MalformedFrameException(SideCarCode code, long request, String found) {
    super(found);
    this.code = code;
    this.request = request;
  }

  SideCarCode code() {
    return code;
  }

  long request() {
    return request;
  }

  String found() {
    return String.valueOf(getMessage());
  }
}
