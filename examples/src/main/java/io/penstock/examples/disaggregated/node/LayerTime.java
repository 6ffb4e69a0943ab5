package io.penstock.examples.disaggregated.node;

import io.penstock.check.Checks;

/// Event of one layer of one request.
///
/// @param what kind of the event
/// @param layer of the model
/// @param startMicros since the epoch
/// @param endMicros since the epoch
public record LayerTime(What what, int layer, long startMicros, long endMicros) {
  public enum What {
    /// The prefill computes the layer.
    COMPUTE('█', "#2f6f9f"),
    /// The decode has asked, the layer is computed, and no byte of it has come.
    WAIT('·', "#d8d8d8"),
    /// Bytes of the layer arrive.
    TRANSFER('▒', "#e0872f");

    private final char mark;
    private final String colour;

    What(char mark, String colour) {
      this.mark = mark;
      this.colour = colour;
    }

    /// Mark in a text.
    public char mark() {
      return mark;
    }

    /// Colour in an image.
    public String colour() {
      return colour;
    }
  }

  public LayerTime {
    Checks.notNegative("layer", layer);
    if (endMicros < startMicros) {
      throw new IllegalArgumentException("endMicros must be >= " + startMicros + " (was " + endMicros + ")");
    }
  }

  /// The time counted from another start.
  public LayerTime since(long micros) {
    return new LayerTime(what, layer, startMicros - micros, endMicros - micros);
  }
}
