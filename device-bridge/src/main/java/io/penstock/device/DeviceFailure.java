package io.penstock.device;

import io.penstock.PermanentKvException;
import io.penstock.TransientKvException;
import io.penstock.tier.spi.StoreBusyException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// The errors of a [Device].
public sealed interface DeviceFailure {
  /// Name of the device.
  String device();

  /// A device failed at a batch of copies. Any part of it may have been copied, so its destinations must not be used.
  final class CopyFailedException extends TransientKvException implements DeviceFailure {
    /// The device did not say which element failed.
    public static final int UNKNOWN = -1;

    private final String device;
    private final int failIndex;

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
      super("device %s: copy of %d elements %s must succeed (was code %d%s%s)".formatted(device, elements, direction,
          code, failIndex == UNKNOWN ? "" : " at element " + failIndex, meaning.isEmpty() ? "" : ": " + meaning));
      this.device = device;
      this.failIndex = failIndex;
    }

    @Override
    public String device() {
      return device;
    }

    /// Number of the element that failed, or [#UNKNOWN].
    public int failIndex() {
      return failIndex;
    }
  }

  /// An element of a batch names memory that is not, or not wholly, inside one allocation of the device. Nothing of the
  /// batch was copied.
  final class DeviceAddressException extends PermanentKvException implements DeviceFailure {
    private final String device;
    private final int failIndex;
    private final long address;
    private final long bytes;

    /// @param found description of the memory that is there instead
    public DeviceAddressException(String device, int failIndex, long address, long bytes, String found) {
      super("element %d: %d bytes at %#x must lie inside one allocation of device %s (was %s)"
          .formatted(failIndex, bytes, address, device, found));
      this.device = device;
      this.failIndex = failIndex;
      this.address = address;
      this.bytes = bytes;
    }

    @Override
    public String device() {
      return device;
    }

    /// Number of the element.
    public int failIndex() {
      return failIndex;
    }

    public long address() {
      return address;
    }

    public long bytes() {
      return bytes;
    }
  }

  /// The queue of a device is full: nothing of this work was done, and a retry after some of the queue was done can
  /// succeed.
  final class DeviceBusyException extends StoreBusyException implements DeviceFailure {
    private final String device;

    /// @param room completes when some of the queue was done
    public DeviceBusyException(String device, int maxQueued, Mono<Void> room) {
      super("device " + device + ": work in its queue must be <= " + maxQueued + " (was one more)", room);
      this.device = device;
    }

    @Override
    public String device() {
      return device;
    }
  }

  /// The device, or the bridge to it, was closed: nothing of this work was done.
  final class DeviceClosedException extends PermanentKvException implements DeviceFailure {
    private final String device;

    public DeviceClosedException(String device) {
      super("device " + device + " must be open (was closed)");
      this.device = device;
    }

    @Override
    public String device() {
      return device;
    }
  }

  /// A device, or the part of it that belongs to the caller, has less memory than was asked for.
  final class DeviceMemoryExhaustedException extends TransientKvException implements DeviceFailure {
    private final String device;
    private final long neededBytes;
    private final long freeBytes;

    public DeviceMemoryExhaustedException(String device, long neededBytes, long freeBytes) {
      this(device, neededBytes, freeBytes, null);
    }

    /// @param cause why the device has less than it reported
    public DeviceMemoryExhaustedException(String device, long neededBytes, long freeBytes, @Nullable Throwable cause) {
      super("device " + device + ": bytes needed must be <= " + freeBytes + " free (was " + neededBytes + ")", cause);
      this.device = device;
      this.neededBytes = neededBytes;
      this.freeBytes = freeBytes;
    }

    @Override
    public String device() {
      return device;
    }

    public long neededBytes() {
      return neededBytes;
    }

    public long freeBytes() {
      return freeBytes;
    }
  }
}
