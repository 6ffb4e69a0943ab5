package io.penstock.device.memory;

import io.penstock.TransientKvException;
import java.util.List;
import java.util.stream.Collectors;

/// No kind of pages gave the memory. All attempts were undone.
public final class HostMemoryRefusedException extends TransientKvException {
  private final String source;
  private final long bytes;
  private final List<Fallback> tried;

  /// @param tried each kind of pages and its refusal, in order
  public HostMemoryRefusedException(String source, long bytes, List<Fallback> tried) {
    super("%s: %d bytes of host memory must be available (was refused): %s".formatted(source, bytes,
        tried.stream().map(Fallback::toString).collect(Collectors.joining("; "))));
    this.source = source;
    this.bytes = bytes;
    this.tried = List.copyOf(tried);
  }

  /// Name of the [HostMemorySource].
  public String source() {
    return source;
  }

  public long bytes() {
    return bytes;
  }

  public List<Fallback> tried() {
    return tried;
  }
}
