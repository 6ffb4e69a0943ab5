package io.penstock.node.shape;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.check.Checks;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Content of a layer of a model for each token.
public sealed interface KvShape {
  /// Content of a layer when neither a model nor dimensions are stated.
  Heads DEFAULT = new Heads(1, 128);

  /// Blocks of this shape.
  ///
  /// @param type of the elements whose type the shape does not state
  BlockLayout layout(int layers, int tokens, ElementType type);

  /// The tensors of a layer, one by one.
  Planes planes();

  /// Keys and values of multi-head or grouped-query attention.
  record Heads(int kvHeads, int headDim) implements KvShape {
    public Heads {
      Checks.positive("kv.heads", kvHeads);
      Checks.positive("head.dim", headDim);
    }

    @Override
    public BlockLayout layout(int layers, int tokens, ElementType type) {
      return BlockLayout.attention(layers, tokens, kvHeads, headDim, type);
    }

    @Override
    public Planes planes() {
      return new Planes(
          List.of(Part.of(Plane.Kind.KEY, kvHeads, headDim), Part.of(Plane.Kind.VALUE, kvHeads, headDim)));
    }
  }

  /// The latent and the rotary part of multi-head latent attention (MLA).
  record Latent(int rank, int ropeDim) implements KvShape {
    public Latent {
      Checks.positive("latent.rank", rank);
      Checks.positive("rope.dim", ropeDim);
    }

    @Override
    public BlockLayout layout(int layers, int tokens, ElementType type) {
      return BlockLayout.latent(layers, tokens, rank, ropeDim, type);
    }

    @Override
    public Planes planes() {
      return new Planes(List.of(Part.of(Plane.Kind.LATENT, 1, rank), Part.of(Plane.Kind.ROPE, 1, ropeDim)));
    }
  }

  /// Tensors that are stated one by one: keys and values of unlike width, quantised ones with their scales, the keys of
  /// an indexer, or the parts of a recurrent state.
  ///
  /// @param parts in memory order, at least one
  record Planes(List<Part> parts) implements KvShape {
    private static final Pattern BETWEEN = Pattern.compile("\\s*\\+\\s*");

    public Planes {
      parts = List.copyOf(parts);
      if (parts.isEmpty()) {
        throw new IllegalArgumentException("planes must not be empty");
      }
    }

    /// Reads what [#toString] writes.
    ///
    /// @throws IllegalArgumentException naming the part that is none
    public static Planes parse(String text) {
      return new Planes(Arrays.stream(BETWEEN.split(text.strip(), -1)).map(Part::parse).toList());
    }

    @Override
    public BlockLayout layout(int layers, int tokens, ElementType type) {
      return new BlockLayout(layers, tokens, TokenOrder.NHD, parts.stream().map(part -> part.plane(type)).toList());
    }

    @Override
    public Planes planes() {
      return this;
    }

    /// `key 8x192 + value 8x128`.
    @Override
    public String toString() {
      return parts.stream().map(Part::toString).collect(Collectors.joining(" + "));
    }
  }

  /// One tensor of a layer.
  ///
  /// @param type empty for the type that the model's cache has
  record Part(Plane.Kind kind, int heads, int width, Optional<ElementType> type) {
    private static final Pattern FORM = Pattern.compile("([a-z]+) ([0-9]{1,7})x([0-9]{1,9})(?: ([a-z0-9_]+))?");

    public Part {
      requireNonNull(kind, "kind");
      requireNonNull(type, "type");
      Checks.positive("heads", heads);
      Checks.positive("width", width);
    }

    static Part of(Plane.Kind kind, int heads, int width) {
      return new Part(kind, heads, width, Optional.empty());
    }

    static Part of(Plane.Kind kind, int heads, int width, ElementType type) {
      return new Part(kind, heads, width, Optional.of(type));
    }

    private static Part parse(String text) {
      Matcher part = FORM.matcher(text.toLowerCase(Locale.ROOT).replaceAll("\\s+", " "));
      if (!part.matches()) {
        throw new IllegalArgumentException("plane must be KIND HEADSxWIDTH [TYPE] (was " + text + ")");
      }
      return new Part(one(Plane.Kind.values(), "kind", part.group(1)), Integer.parseInt(part.group(2)),
          Integer.parseInt(part.group(3)), Optional.ofNullable(part.group(4))
              .map(type -> one(ElementType.values(), "type", type)));
    }

    private static <E extends Enum<E>> E one(E[] all, String name, String text) {
      return Arrays.stream(all).filter(each -> lower(each).equals(text)).findFirst()
          .orElseThrow(() -> new IllegalArgumentException("%s must be one of %s (was %s)".formatted(name,
              Arrays.stream(all).map(Part::lower).collect(Collectors.joining(", ")), text)));
    }

    private static String lower(Enum<?> name) {
      return name.name().toLowerCase(Locale.ROOT);
    }

    Plane plane(ElementType otherwise) {
      return new Plane(kind, type.orElse(otherwise), heads, width);
    }

    /// `rope 1x64 bf16`.
    @Override
    public String toString() {
      return "%s %dx%d".formatted(lower(kind), heads, width) + type.map(each -> " " + lower(each)).orElse("");
    }
  }
}
