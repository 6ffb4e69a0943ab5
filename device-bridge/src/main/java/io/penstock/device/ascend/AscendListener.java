package io.penstock.device.ascend;

/// Receives events of devices, for meters. The devices' threads call it, so it must be quick and must not throw.
public interface AscendListener {
  /// Copies were asked for in one call, or on one stream; made or not.
  ///
  /// @param nanos from the first call to the last answer
  void called(int device, CopyKind kind, CopyMethod method, int elements, long bytes, long nanos);

  /// Elements of one call ended with `code`; `AclCode.explained` explains it.
  void failed(int device, int code, int elements);

  /// The batch call is not used on `device` from now on, since it answered `code`.
  void fellBack(int device, int code);

  /// Ignores everything.
  static AscendListener noop() {
    return new AscendListener() {
      @Override
      public void called(int device, CopyKind kind, CopyMethod method, int elements, long bytes, long nanos) {}

      @Override
      public void failed(int device, int code, int elements) {}

      @Override
      public void fellBack(int device, int code) {}
    };
  }
}
