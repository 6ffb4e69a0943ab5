package io.penstock.node.config;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Staging buffers, or none: `NUMBER:MIB`, as other programs write it.
///
/// @param buffers how many
/// @param mebibytes of each
public record BufferPool(int buffers, int mebibytes) {
  private static final Pattern FORM = Pattern.compile("(\\d{1,9}):(\\d{1,9})");

  public BufferPool {
    if (buffers < 0 || mebibytes < 0 || (buffers == 0) != (mebibytes == 0)) {
      throw new IllegalArgumentException("buffers and mebibytes must both be > 0, or both 0 (were " + buffers + " and " + mebibytes + ")");
    }
  }

  static BufferPool parse(String text) {
    Matcher form = FORM.matcher(text);
    if (!form.matches()) {
      throw new IllegalArgumentException("pool must be NUMBER:MIB (was " + text + ")");
    }
    return new BufferPool(Integer.parseInt(form.group(1)), Integer.parseInt(form.group(2)));
  }

  public boolean isOff() {
    return buffers == 0;
  }

  @Override
  public String toString() {
    return buffers + ":" + mebibytes;
  }
}
