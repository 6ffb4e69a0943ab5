package io.penstock.device.sidecar;

import static java.util.Objects.requireNonNull;

import io.penstock.PermanentKvException;

/// The side-car does not do this, now or later.
public final class SideCarRefusedException extends PermanentKvException implements SideCarFailure {
  private final SideCarCode code;
  private final long region;
  private final String found;

  SideCarRefusedException(SideCarCode code, long region, String found) {
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
