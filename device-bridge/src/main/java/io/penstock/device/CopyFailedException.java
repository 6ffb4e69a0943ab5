package io.penstock.device;

import io.penstock.TransientKvException;

/// A device failed at a batch of copies. Any part of it may have been copied, so its destinations must not be used.
public final class CopyFailedException extends TransientKvException {
  /// The device did not say which element failed.
  public static final int UNKNOWN = -1;

  private final String device;
  private final CopyDirection direction;
  private final int elements;
  private final int failIndex;
  private final int code;

  /// An error of a driver whose codes have no explanation.
  ///
  /// @param failIndex number of the element that failed, or [#UNKNOWN]
  /// @param code answer of the driver
  public CopyFailedException(String device, CopyDirection direction, int elements, int failIndex, int code) {
    this(device, direction, elements, failIndex, code, "");
  }

  /// @param failIndex number of the element that failed, or [#UNKNOWN]
  /// @param code answer of the driver
  /// @param meaning of the code, in plain words; which setting to change, if one helps
  public CopyFailedException(String device, CopyDirection direction, int elements, int failIndex, int code,
      String meaning) {
    super(
        "device %s: copy of %d elements %s must succeed (was code %d%s%s)".formatted(device, elements, direction, code,
            failIndex == UNKNOWN ? "" : " at element " + failIndex, meaning.isEmpty() ? "" : ": " + meaning));
    this.device = device;
    this.direction = direction;
    this.elements = elements;
    this.failIndex = failIndex;
    this.code = code;
  }

  public String device() {
    return device;
  }

  public CopyDirection direction() {
    return direction;
  }

  /// Elements of the batch.
  public int elements() {
    return elements;
  }

  /// Number of the element that failed, or [#UNKNOWN].
  public int failIndex() {
    return failIndex;
  }

  /// Answer of the driver.
  public int code() {
    return code;
  }
}
