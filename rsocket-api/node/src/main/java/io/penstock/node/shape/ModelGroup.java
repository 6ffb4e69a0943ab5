package io.penstock.node.shape;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane.ElementType;
import io.penstock.check.Checks;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// A KV cache group of a model: layers whose cache is kept in blocks of one shape, and how far they look back. A block
/// of each group is stored in a space of its own, under the hash of the prompt up to its end.
///
/// @param name short, such as `full` or `sliding`
/// @param layers that belong to the group
/// @param shape content of a layer for a token, or its state
/// @param windowTokens how far back a token looks, itself included; 0 without a sliding window
/// @param stateTokens for recurrent layers, which keep a state instead of a cache: the tokens from one stored state to
///     the next; else 0
public record ModelGroup(String name, LayerNumbers layers, KvShape shape, int windowTokens, int stateTokens) {
  /// Rule of the text of several groups, the middle of *kv.groups must be rule (was value)*.
  static final String RULE = "groups such as \"full: 10 layers, key 16x128 + value 16x128; sliding: 52 layers, window"
      + " 1024, key 16x128 + value 16x128\", with \"state 512\" instead of a window where a state is kept every 512"
      + " tokens";

  private static final String NAME = "[A-Za-z0-9][A-Za-z0-9_-]*";
  private static final Pattern FORM =
      Pattern.compile("(" + NAME + "): ?([^,]+), ?(?:window ([0-9]{1,9}), ?|state ([0-9]{1,9}), ?)?(.+)");
  private static final int MOST = 64;

  public ModelGroup {
    requireNonNull(layers, "layers");
    requireNonNull(shape, "shape");
    Checks.notNegative("windowTokens", windowTokens);
    Checks.notNegative("stateTokens", stateTokens);
    if (!name.matches(NAME)) {
      throw new IllegalArgumentException("name of a group must be letters, digits, - or _ (was " + name + ")");
    }
    if (windowTokens > 0 && stateTokens > 0) {
      throw new IllegalArgumentException("group " + name + " must have a window or a state (was both)");
    }
  }

  static ModelGroup full(LayerNumbers layers, KvShape shape) {
    return new ModelGroup("full", layers, shape, 0, 0);
  }

  static ModelGroup sliding(LayerNumbers layers, KvShape shape, int windowTokens) {
    return new ModelGroup("sliding", layers, shape, windowTokens, 0);
  }

  static ModelGroup state(LayerNumbers layers, KvShape shape, int stateTokens) {
    return new ModelGroup("state", layers, shape, 0, stateTokens);
  }

  /// Reads what [#text] writes.
  ///
  /// @throws IllegalArgumentException if it is none, or two groups have a name or a layer in common
  static List<ModelGroup> parse(String text) {
    List<ModelGroup> groups = Arrays.stream(text.split(";")).map(String::strip).filter(part -> !part.isEmpty())
        .limit(MOST + 1L).map(ModelGroup::one).toList();
    if (groups.isEmpty() || groups.size() > MOST) {
      throw new IllegalArgumentException("groups must be from 1 to " + MOST + " (was " + groups.size() + ")");
    }
    Set<Object> seen = new HashSet<>();
    for (ModelGroup group : groups) {
      List<Object> own = new ArrayList<>(group.layers.numbers());
      own.add(group.name);
      own.forEach(each -> {
        if (!seen.add(each)) {
          throw new IllegalArgumentException("groups must differ in names and layers (was " + each + " twice)");
        }
      });
    }
    return groups;
  }

  private static ModelGroup one(String text) {
    Matcher group = FORM.matcher(text.replaceAll("\\s+", " "));
    if (!group.matches()) {
      throw new IllegalArgumentException("group must be NAME: LAYERS, PLANES (was " + text + ")");
    }
    return new ModelGroup(group.group(1), LayerNumbers.parse(group.group(2).strip()),
        KvShape.Planes.parse(group.group(5)), tokens("window", group.group(3)), tokens("state", group.group(4)));
  }

  private static int tokens(String name, @Nullable String digits) {
    return digits == null ? 0 : Checks.positive(name, Integer.parseInt(digits));
  }

  /// All of `groups` as the setting `kv.groups` takes them.
  static String text(List<ModelGroup> groups) {
    return groups.stream().map(ModelGroup::toString).collect(Collectors.joining("; "));
  }

  /// Layout of a block of the group.
  ///
  /// @param blockTokens tokens of a block; a state has one for itself
  /// @param type of elements whose type the shape does not state
  public BlockLayout layout(int blockTokens, ElementType type) {
    BlockLayout layout = shape.layout(layers.count(), stateTokens > 0 ? 1 : blockTokens, type);
    // A state is one "token", which may have more bytes than a slice. Its rows by heads are small, with the same bytes.
    return stateTokens > 0 ? layout.withOrder(TokenOrder.HND) : layout;
  }

  /// The group as its space names it.
  ///
  /// @param number place among the groups of the model
  public CacheSpace.Group group(int number) {
    return new CacheSpace.Group(number, windowTokens, stateTokens, layers.numbers());
  }

  /// Tokens of the prompt from one block to the next.
  public int strideTokens(int blockTokens) {
    return stateTokens > 0 ? stateTokens : blockTokens;
  }

  /// Bytes that the group stores for each token of a prompt; of a state its share of a token, rounded up.
  public long bytesPerToken(ElementType type) {
    return Math.ceilDiv((long) layout(1, type).blockBytes(), strideTokens(1));
  }

  /// `sliding: layers 0-4 6-10, window 1024, key 16x128 + value 16x128`.
  @Override
  public String toString() {
    return "%s: %s, %s%s".formatted(name, layers,
        windowTokens > 0 ? "window " + windowTokens + ", " : stateTokens > 0 ? "state " + stateTokens + ", " : "",
        shape.planes());
  }
}
