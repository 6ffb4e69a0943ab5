package io.penstock.device.ascend.failure;

import io.penstock.device.ascend.failure.AscendFailure.AscendRefusedException;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnavailableException;
import io.penstock.device.ascend.failure.AscendFailure.AscendUnsupportedException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/// The answers of AscendCL that callers distinguish, and their meaning.
///
/// Two ranges have nearly equal meanings: the codes of the library, and the codes of the runtime below it, which have a
/// 7 in third place.
public enum AclCode {
  INVALID_PARAM(100_000, "invalid parameter", Kind.ARGUMENT),
  BAD_ALLOC(200_000, "no memory", Kind.MEMORY),
  FEATURE_UNSUPPORTED(200_006, "feature unsupported", Kind.UNSUPPORTED),
  INTERNAL_ERROR(500_000, "internal error", Kind.INTERNAL),
  FAILURE(500_001, "failure", Kind.INTERNAL),
  RT_PARAM_INVALID(107_000, "invalid parameter of the runtime", Kind.ARGUMENT),
  RT_INVALID_DEVICE(107_001, "invalid device id", Kind.DEVICE),
  RT_CONTEXT_NULL(107_002, "no context on this thread", Kind.HANDLE),
  RT_STREAM_CONTEXT(107_003, "stream of another context", Kind.HANDLE),
  RT_INVALID_HANDLE(107_017, "invalid handle", Kind.HANDLE),
  RT_WAIT_TIMEOUT(107_019, "wait timed out", Kind.TIMEOUT),
  RT_TASK_TIMEOUT(107_020, "task timed out", Kind.TIMEOUT),
  RT_DEVICE_TASK_ABORT(107_022, "task of the device aborted", Kind.ABORTED),
  RT_STREAM_ABORT(107_023, "stream aborted", Kind.ABORTED),
  RT_CAPTURE_MODE(107_030, "not supported while capturing", Kind.UNSUPPORTED),
  RT_FEATURE_NOT_SUPPORTED(207_000, "feature not supported by the runtime", Kind.UNSUPPORTED),
  RT_MEMORY_ALLOCATION(207_001, "memory allocation failed", Kind.MEMORY),
  RT_DEVICE_OUT_OF_MEMORY(207_018, "device out of memory", Kind.MEMORY),
  RT_DRIVER_TIMEOUT(207_020, "driver timed out", Kind.TIMEOUT),
  RT_INTERNAL_ERROR(507_000, "internal error of the runtime", Kind.INTERNAL),
  RT_STREAM_SYNC_TIMEOUT(507_046, "synchronising a stream timed out", Kind.TIMEOUT),
  RT_DEVICE_MEMORY_ERROR(507_053, "device memory is damaged", Kind.HARDWARE),
  RT_LINK_ERROR(507_056, "link failed", Kind.HARDWARE),
  RT_SOCKET_CLOSED(507_901, "socket closed", Kind.HARDWARE);

  /// What a code means for the caller.
  enum Kind {
    ARGUMENT, DEVICE, HANDLE, UNSUPPORTED, MEMORY, TIMEOUT, ABORTED, HARDWARE, INTERNAL
  }

  public static final int OK = 0;
  /// The setting that timeouts name.
  static final String TIMEOUT_SETTING = "ascend.transfer.timeout, ASCEND_TRANSFER_TIMEOUT";

  private static final Map<Integer, AclCode> BY_NUMBER =
      Arrays.stream(values()).collect(Collectors.toMap(AclCode::number, code -> code));

  private final int number;
  private final String meaning;
  private final Kind kind;

  AclCode(int number, String meaning, Kind kind) {
    this.number = number;
    this.meaning = meaning;
    this.kind = kind;
  }

  public int number() {
    return number;
  }

  /// Explains a code in plain words; for a timeout with the setting that allows more.
  public static String meaning(int number) {
    AclCode known = BY_NUMBER.get(number);
    return known == null ? "unknown code" : known.meaning;
  }

  /// Plain words for a code; for a time-out, they name the setting that allows more time.
  public static String explained(int number) {
    return meaning(number) + hint(number);
  }

  /// Names the setting to change, where one helps.
  static String hint(int number) {
    return isTimeout(number) ? "; longest time: " + TIMEOUT_SETTING : "";
  }

  /// Whether a code is a timeout: some bytes may have been copied, and copies may still run.
  public static boolean isTimeout(int number) {
    return kind(number) == Kind.TIMEOUT;
  }

  /// Whether a code says that there is no memory of the requested kind.
  public static boolean isOutOfMemory(int number) {
    return kind(number) == Kind.MEMORY;
  }

  /// Whether a code refuses this request alone, so that another kind of memory may succeed.
  public static boolean isOfTheRequest(int number) {
    return switch (kind(number)) {
      case MEMORY, UNSUPPORTED, ARGUMENT -> true;
      case DEVICE, HANDLE, TIMEOUT, ABORTED, HARDWARE, INTERNAL -> false;
    };
  }

  /// A code that is not known is internal.
  static Kind kind(int number) {
    AclCode known = BY_NUMBER.get(number);
    return known == null ? Kind.INTERNAL : known.kind;
  }

  /// The name of a code in lower case, for tags of meters; `other` for one that is not known.
  public static String tag(int number) {
    AclCode known = BY_NUMBER.get(number);
    return known == null ? "other" : known.name().toLowerCase(Locale.ROOT);
  }

  /// The exception of `error`, an [AscendFailure].
  public static RuntimeException exception(AclError error) {
    return switch (kind(error.code())) {
      case UNSUPPORTED -> new AscendUnsupportedException(error);
      case ARGUMENT, DEVICE, HANDLE, HARDWARE -> new AscendRefusedException(error);
      case MEMORY, TIMEOUT, ABORTED, INTERNAL -> new AscendUnavailableException(error);
    };
  }
}
