package io.penstock.device.ascend.failure;

/// A call of AscendCL that did not answer 0.
///
/// @param function its C name
/// @param code its answer
/// @param message explanation of the library, empty if it has none
public record AclError(String function, int code, String message) {
  /// One sentence about the failure.
  public String sentence() {
    return "%s must answer 0 (was %d, %s%s)%s".formatted(function, code, AclCode.meaning(code),
        message.isEmpty() ? "" : ": " + message, AclCode.hint(code));
  }
}
