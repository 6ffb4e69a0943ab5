package io.penstock.lab.plan;

import io.penstock.check.Checks;

/// The order of elements in a block whose heads came in several pulls, each into a range of its own:
/// `[pull][token][heads / pulls][width]` becomes `[token][head][width]`. Not before all pulls have arrived.
///
/// @param pulls into which the heads were cut
/// @param heads of the block, a multiple of `pulls`
/// @param width elements of a head and token
public record HeadConcat(int pulls, int tokens, int heads, int width) {
  public HeadConcat {
    Checks.positive("pulls", pulls);
    Checks.positive("tokens", tokens);
    Checks.positive("heads", heads);
    Checks.positive("width", width);
    if (heads % pulls != 0) {
      throw new IllegalArgumentException("heads must be a multiple of %d pulls (was %d)".formatted(pulls, heads));
    }
    Math.multiplyExact(Math.multiplyExact(tokens, heads), width);
  }

  /// Elements of a block.
  public int size() {
    return tokens * heads * width;
  }

  /// Index of element `element` of the ordered block among the pulled elements.
  public int source(int element) {
    Checks.within("element", element, size());
    int head = element / width % heads;
    int token = element / width / heads;
    int pulled = heads / pulls;
    return ((head / pulled * tokens + token) * pulled + head % pulled) * width + element % width;
  }
}
