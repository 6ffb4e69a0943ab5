package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;

import io.penstock.TransientKvException;

/// The side-car could not do this now.
public final class SideCarUnavailableException extends TransientKvException implements SideCarFailure {
  private final SideCarCode code;
  private final long region;
  private final String found;

  SideCarUnavailableException(SideCarCode code, long region, String found) {
    super(SideCarFailure.message(code, region, found));
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
