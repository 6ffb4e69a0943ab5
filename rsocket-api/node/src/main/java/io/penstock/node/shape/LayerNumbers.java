package io.penstock.node.shape;

import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The layers of a model that belong to a group, as people write them: a number of layers, or which ones.
///
/// @param count number of layers
/// @param numbers of the layers in the model, from 0, in ascending order; empty if only their number is stated
public record LayerNumbers(int count, List<Integer> numbers) {
  private static final int MAX_LAYERS = 1024;
  private static final Pattern COUNT = Pattern.compile("([0-9]{1,4}) layers?");
  private static final Pattern LIST = Pattern.compile("layers? ([0-9].*)");
  private static final Pattern RUN = Pattern.compile("([0-9]{1,4})(?:-([0-9]{1,4})(?:/([0-9]{1,4}))?)?");
  /// Numbers of equal distance that are written as one run with that distance.
  private static final int LEAST_STEPS = 3;

  public LayerNumbers {
    numbers = List.copyOf(numbers);
    if (count < 1 || count > MAX_LAYERS) {
      throw new IllegalArgumentException("layers must be from 1 to " + MAX_LAYERS + " (was " + count + ")");
    }
    if (!numbers.isEmpty() && numbers.size() != count) {
      throw new IllegalArgumentException("numbers must be none or " + count + " (was " + numbers.size() + ")");
    }
    for (int i = 1; i < numbers.size(); i++) {
      if (numbers.get(i) <= numbers.get(i - 1)) {
        throw new IllegalArgumentException("layers must be in ascending order (was " + numbers + ")");
      }
    }
  }

  static LayerNumbers of(List<Integer> numbers) {
    return new LayerNumbers(numbers.size(), numbers);
  }

  /// Layers 0 to `count` - 1: those of a model with one group.
  static LayerNumbers first(int count) {
    return run(0, count - 1, 1);
  }

  /// Every `step`th layer from `first` to `last`.
  static LayerNumbers run(int first, int last, int step) {
    List<Integer> numbers = new ArrayList<>();
    addRun(numbers, first, last, step);
    return of(numbers);
  }

  /// The layers of the first `layers` that are not these.
  LayerNumbers others(int layers) {
    List<Integer> others = new ArrayList<>();
    for (int layer = 0; layer < layers; layer++) {
      if (!numbers.contains(layer)) {
        others.add(layer);
      }
    }
    return of(others);
  }

  /// Reads what [#toString] writes: `52 layers`, or `layers 0-4 6-10`, or `layers 5-59/6` for every sixth.
  ///
  /// @throws IllegalArgumentException if it is neither
  static LayerNumbers parse(String text) {
    Matcher count = COUNT.matcher(text);
    if (count.matches()) {
      return new LayerNumbers(Integer.parseInt(count.group(1)), List.of());
    }
    Matcher list = LIST.matcher(text);
    if (!list.matches()) {
      throw new IllegalArgumentException("layers must be such as 52 layers, or layers 0-4 6-10 (was " + text + ")");
    }
    List<Integer> numbers = new ArrayList<>();
    for (String part : list.group(1).split(" ")) {
      Matcher run = RUN.matcher(part);
      if (!run.matches()) {
        throw new IllegalArgumentException("layers must be numbers or runs such as 0-4 (was " + part + ")");
      }
      int first = Integer.parseInt(run.group(1));
      addRun(numbers, first, run.group(2) == null ? first : Integer.parseInt(run.group(2)),
          run.group(3) == null ? 1 : Checks.positive("step", Integer.parseInt(run.group(3))));
    }
    return of(numbers);
  }

  private static void addRun(List<Integer> numbers, int first, int last, int step) {
    if (last < first) {
      throw new IllegalArgumentException("layers must be in ascending order (was " + first + "-" + last + ")");
    }
    for (int layer = first; layer <= last; layer += step) {
      numbers.add(layer);
    }
  }

  @Override
  public String toString() {
    if (numbers.isEmpty()) {
      return count == 1 ? "1 layer" : count + " layers";
    }
    return (count == 1 ? "layer " : "layers ") + runs();
  }

  private String runs() {
    int step = count < 2 ? 1 : numbers.get(1) - numbers.getFirst();
    boolean isEven = step > 1 && count >= LEAST_STEPS;
    for (int i = 1; i < count && isEven; i++) {
      isEven = numbers.get(i) - numbers.get(i - 1) == step;
    }
    return isEven ? numbers.getFirst() + "-" + numbers.getLast() + "/" + step : ranges();
  }

  private String ranges() {
    List<String> ranges = new ArrayList<>();
    int from = 0;
    for (int i = 1; i <= count; i++) {
      if (i == count || numbers.get(i) != numbers.get(i - 1) + 1) {
        int first = numbers.get(from);
        int last = numbers.get(i - 1);
        ranges.add(first == last ? "" + first : first + "-" + last);
        from = i;
      }
    }
    return String.join(" ", ranges);
  }
}
