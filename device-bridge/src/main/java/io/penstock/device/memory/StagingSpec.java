package io.penstock.device.memory;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Number and size of staging buffers: `NUM:SIZE_MB`, as in `ASCEND_BUFFER_POOL`. `0:0` is none.
///
/// @param bufferBytes a multiple of 1 MiB
public record StagingSpec(int buffers, long bufferBytes) {
  public static final StagingSpec OFF = new StagingSpec(0, 0);

  private static final long MIB = 1 << 20;
  private static final int MOST = 1 << 16;
  private static final Pattern TEXT = Pattern.compile("\\s*(\\d{1,5}):(\\d{1,5})\\s*");

  public StagingSpec {
    if (buffers < 0 || buffers > MOST || bufferBytes < 0 || bufferBytes > MOST * MIB || bufferBytes % MIB != 0
        || (buffers == 0) != (bufferBytes == 0)) {
      throw new IllegalArgumentException(
          "staging buffers must be NUM:SIZE_MB, both from 1 to %d, or 0:0 for none (was %d buffers of %d bytes)"
              .formatted(MOST, buffers, bufferBytes));
    }
  }

  /// @throws IllegalArgumentException naming the rule
  public static StagingSpec parse(String text) {
    Matcher parts = TEXT.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException("staging buffers must be NUM:SIZE_MB, or 0:0 for none (was " + text + ")");
    }
    return new StagingSpec(Integer.parseInt(parts.group(1)), Long.parseLong(parts.group(2)) * MIB);
  }

  public boolean isOff() {
    return buffers == 0;
  }

  public long bytes() {
    return buffers * bufferBytes;
  }

  /// Text that the parser reads.
  @Override
  public String toString() {
    return buffers + ":" + bufferBytes / MIB;
  }
}
