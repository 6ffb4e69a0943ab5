package io.penstock.device.ascend;

/// A call of AscendCL that did not answer 0.
///
/// @param function its C name
/// @param code what it answered
/// @param message what the library said of it, empty if nothing
public record AclError(String function, int code, String message) {
  /// What was done instead of succeeding, in one sentence.
  String sentence() {
    return "%s must answer 0 (was %d, %s%s)".formatted(function, code, AclCode.meaning(code),
        message.isEmpty() ? "" : ": " + message);
  }
}
