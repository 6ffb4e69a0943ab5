package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;

import io.penstock.KvException;
import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;

/// The errors of the side-car.
public sealed interface SideCarFailure {
  /// No region in particular.
  long NO_REGION = 0;

  SideCarCode code();

  /// The region that it is about, or [#NO_REGION].
  long region();

  /// The state that was found instead of the required one.
  String found();

  static KvException of(SideCarCode code, long region, String found) {
    return code.isTransient()
        ? new SideCarUnavailableException(code, region, found)
        : new SideCarRefusedException(code, region, found);
  }

  private static String message(SideCarCode code, long region, String found) {
    return "side-car" + (region == NO_REGION ? "" : ", region " + region) + ": " + code.rule() + " (was: " + found
        + ")";
  }

  /// The side-car does not do this, now or later.
  final class SideCarRefusedException extends PermanentKvException implements SideCarFailure {
    private final SideCarCode code;
    private final long region;
    private final String found;

    private SideCarRefusedException(SideCarCode code, long region, String found) {
      super(message(code, region, found));
      this.code = requireNonNull(code, "code");
      this.region = region;
      this.found = found;
    }

    @Override
    public SideCarCode code() {
      return code;
    }

    @Override
    public long region() {
      return region;
    }

    @Override
    public String found() {
      return found;
    }
  }

  /// The side-car could not do this now.
  final class SideCarUnavailableException extends TransientKvException implements SideCarFailure {
    private final SideCarCode code;
    private final long region;
    private final String found;

    private SideCarUnavailableException(SideCarCode code, long region, String found) {
      super(message(code, region, found));
      this.code = requireNonNull(code, "code");
      this.region = region;
      this.found = found;
    }

    @Override
    public SideCarCode code() {
      return code;
    }

    @Override
    public long region() {
      return region;
    }

    @Override
    public String found() {
      return found;
    }
  }
}
