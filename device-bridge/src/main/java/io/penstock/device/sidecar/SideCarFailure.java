package io.penstock.device.sidecar;

import io.penstock.KvException;

/// What the errors of the side-car carry; each is a [SideCarRefusedException] or, if it may pass, a
/// [SideCarUnavailableException].
public sealed interface SideCarFailure permits SideCarRefusedException, SideCarUnavailableException {
  /// No region in particular.
  long NO_REGION = 0;

  SideCarCode code();

  /// The region that it is about, or [#NO_REGION].
  long region();

  /// What was the case instead of what had to be.
  String found();

  static KvException of(SideCarCode code, long region, String found) {
    return code.isTransient()
        ? new SideCarUnavailableException(code, region, found)
        : new SideCarRefusedException(code, region, found);
  }

  static String message(SideCarCode code, long region, String found) {
    return "side-car" + (region == NO_REGION ? "" : ", region " + region) + ": " + code.rule() + " (was: " + found
        + ")";
  }
}
