package io.penstock.lab.plan;

import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/// Layers that share buffers by turns, and the layer that each one waits for: a layer is loaded into its buffer when
/// the previous layer of that buffer has been saved.
///
/// @param shared buffers that layers take turns in
/// @param prefetch layers to load ahead
/// @param independent layers with a buffer of their own
/// @param waitsFor layer that must be saved first, by the layer that waits
/// @param slots layers of each buffer, in the order of their turns; those of independent layers first
public record LayerSlots(int shared, int prefetch, List<Integer> independent, Map<Integer, Integer> waitsFor,
    List<List<Integer>> slots) {
  /// More prefetch does not help, and loads everything at the first layer.
  private static final int MOST_BY_DEFAULT = 8;

  public LayerSlots {
    Checks.positive("shared", shared);
    Checks.positive("prefetch", prefetch);
    independent = List.copyOf(independent);
    slots = slots.stream().map(List::copyOf).toList();
  }

  /// Prefetch unless one is stated.
  public static int prefetch(int shared) {
    return Math.min(shared, MOST_BY_DEFAULT);
  }

  /// @param independent numbers of layers; a negative one counts from the end
  public static LayerSlots of(int layers, int shared, int prefetch, Collection<Integer> independent) {
    TreeSet<Integer> alone = new TreeSet<>();
    for (int layer : independent) {
      int number = layer < 0 ? layer + layers : layer;
      if (number < 0 || number >= layers) {
        throw new IllegalArgumentException(
            "independent layer must be in [%d, %d) (was %d)".formatted(-layers, layers, layer));
      }
      alone.add(number);
    }
    List<Integer> turns = IntStream.range(0, layers).filter(layer -> !alone.contains(layer)).boxed().toList();
    List<List<Integer>> slots = new ArrayList<>(alone.stream().map(List::of).toList());
    Map<Integer, Integer> waits = new TreeMap<>();
    for (int slot = 0; slot < Math.min(Checks.positive("shared", shared), turns.size()); slot++) {
      List<Integer> members = new ArrayList<>();
      for (int i = slot; i < turns.size(); i += shared) {
        members.add(turns.get(i));
        if (i >= shared) {
          waits.put(turns.get(i), turns.get(i - shared));
        }
      }
      slots.add(members);
    }
    return new LayerSlots(shared, prefetch, List.copyOf(alone), waits, slots);
  }

  /// Whether any buffer has more than one layer.
  public boolean hasReuse() {
    return !waitsFor.isEmpty();
  }
}
