package io.penstock.examples.disaggregated.model;

/// One plane of one layer of a rank's cache, copied to the memory of a kernel: a row a KV head and token.
public final class CachedHeads {
  /// Nothing.
  public static final CachedHeads NONE = new CachedHeads(0, new float[0]);

  private final int width;
  private final float[] values;

  /// @param values rows of `width` numbers, kept and not copied
  public CachedHeads(int width, float[] values) {
    this.width = width;
    this.values = values;
  }

  int width() {
    return width;
  }

  float[] values() {
    return values;
  }
}
