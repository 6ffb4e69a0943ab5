package io.penstock.device.ascend;

/// What all exceptions for answers of AscendCL carry.
public sealed interface AscendFailure permits AscendArgumentException, AscendDeviceIdException, AscendHandleException,
    AscendUnsupportedException, AscendMemoryException, AscendTimeoutException, AscendAbortedException,
    AscendHardwareException,
    AscendInternalException {
  /// The call and its answer.
  AclError error();
}
