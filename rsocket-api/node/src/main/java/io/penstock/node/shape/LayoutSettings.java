package io.penstock.node.shape;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.node.setting.AscendTypes;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import io.penstock.node.text.Sizes;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The part of the table that states what blocks look like. A node, its clients and a replay take the same settings;
/// `NodeConfig.layout` is what they state together.
public final class LayoutSettings {
  private static final int MAX_WIDTH = 1 << 20;

  public static final Setting<String> MODEL = new Setting<>("model", SettingType.text(), "penstock-demo",
      "Name or digest of the model; node and clients must state the same. A name that `penstock models` lists also"
          + " states the layout.");
  public static final Setting<Optional<Integer>> LAYERS = count("layers", 1024,
      "Layers of the model; auto is the model's own, else " + BlockShape.DEFAULT_LAYERS + ".");
  public static final Setting<Optional<Integer>> BLOCK_TOKENS = count("block.tokens", 1 << 16,
      "Tokens of a block; auto is " + BlockShape.DEFAULT_TOKENS + ", or fewer where block.bytes needs it.");
  public static final Setting<Optional<Integer>> KV_HEADS = count("kv.heads", MAX_WIDTH,
      "Key and value heads of a layer; auto is the model's own, else " + KvShape.DEFAULT.kvHeads() + ".");
  public static final Setting<Optional<Integer>> HEAD_DIM = count("head.dim", MAX_WIDTH,
      "Elements of a head; auto is the model's own, else " + KvShape.DEFAULT.headDim() + ".");
  public static final Setting<Optional<Integer>> LATENT_RANK = count("latent.rank", MAX_WIDTH,
      "Elements of the latent of a layer (MLA), instead of heads; 512 in DeepSeek-V3.");
  public static final Setting<Optional<Integer>> ROPE_DIM = count("rope.dim", MAX_WIDTH,
      "Elements of the rotary part beside the latent (MLA); 64 in DeepSeek-V3.");
  public static final Setting<Optional<KvShape.Planes>> PLANES = new Setting<>("planes",
      SettingType.orAuto(new SettingType<>("PLANES", "tensors of a layer such as \"key 8x192 + value 8x128\", each KIND"
          + " HEADSxWIDTH and perhaps a type, of kinds " + names(Plane.Kind.values()), KvShape.Planes::parse,
          KvShape.Planes::toString)),
      SettingType.AUTO,
      "Tensors of a layer one by one, instead of heads or a latent: for keys and values of unlike width, scales, an"
          + " indexer, or several types.");
  public static final Setting<Optional<List<ModelGroup>>> GROUPS = new Setting<>("kv.groups",
      SettingType.orAuto(new SettingType<>("GROUPS", ModelGroup.RULE, ModelGroup::parse, ModelGroup::text)),
      SettingType.AUTO,
      "KV cache groups of a model whose layers differ, separated by semicolons; auto is the model's own. Each has a"
          + " space of its own.");
  public static final Setting<Optional<String>> GROUP = new Setting<>("kv.group",
      SettingType.orAuto(SettingType.text()), SettingType.AUTO,
      "The one group whose blocks are meant, by its name; auto is all of them for a node.");
  public static final Setting<ElementType> DTYPE =
      new Setting<>("dtype", SettingType.oneOf(ElementType.class), "bf16",
          "Type of an element, where neither the model nor planes state it.");
  public static final Setting<TokenOrder> ORDER =
      new Setting<>("order", SettingType.oneOf(TokenOrder.class), "nhd",
          "Order of the axes inside a plane: tokens before heads, or heads before tokens.");
  public static final Setting<Optional<Integer>> BLOCK_BYTES =
      new Setting<>("block.bytes", SettingType.orAuto(SettingType.size(4, 1 << 30)), SettingType.AUTO,
          "Size of a block that stands for a model: one head as wide as the size needs. auto follows from the layout.");

  public static final Setting<Optional<String>> FINGERPRINT = new Setting<>("fingerprint",
      AscendTypes.orNone(SettingType.text()), "none",
      "Names weights and engine, such as \"sha256:4f1c vllm 0.11\"; node and clients must state the same. Equal tokens"
          + " have other blocks under other weights, which the name of a model does not tell.");

  /// All settings, in the order in which people read them.
  public static final List<Setting<?>> ALL = List.of(MODEL, LAYERS, BLOCK_TOKENS, KV_HEADS, HEAD_DIM, LATENT_RANK,
      ROPE_DIM, PLANES, GROUPS, GROUP, DTYPE, ORDER, BLOCK_BYTES, FINGERPRINT);

  private LayoutSettings() {}

  private static Setting<Optional<Integer>> count(String key, int max, String description) {
    return new Setting<>(key, SettingType.orAuto(SettingType.count(1, max)), SettingType.AUTO, description);
  }

  private static String names(Enum<?>[] values) {
    return Arrays.stream(values).map(LayoutSettings::lower).collect(Collectors.joining(", "));
  }

  /// Flags that state `space` to another process.
  ///
  /// @throws IllegalArgumentException if it is the space of one of several groups, which flags state all together
  public static List<String> flags(CacheSpace space) {
    if (!space.group().equals(CacheSpace.Group.of(0))) {
      throw new IllegalArgumentException(
          "kv.group must be left out where another process is started (was " + space.group() + ")");
    }
    BlockLayout layout = space.layout();
    List<String> flags = List.of(MODEL.flag(), space.model(), LAYERS.flag(), text(layout.layers()), BLOCK_TOKENS.flag(),
        text(layout.tokens()), PLANES.flag(), planes(layout).toString(), ORDER.flag(),
        ORDER.type().print().apply(layout.order()));
    return space.fingerprint().isEmpty()
        ? flags
        : Stream.concat(flags.stream(), Stream.of(FINGERPRINT.flag(), space.fingerprint())).toList();
  }

  private static KvShape.Planes planes(BlockLayout layout) {
    return new KvShape.Planes(layout.planes().stream()
        .map(plane -> KvShape.Part.of(plane.kind(), plane.heads(), plane.width(), plane.type())).toList());
  }

  private static String text(int count) {
    return String.valueOf(count);
  }

  /// `layout` as its product: `64 KiB = 8 layers x 16 tokens x (key 1x128 + value 1x128) x bf16, nhd`. Planes of
  /// several types are followed by their own: `(latent 1x512 fp8_e4m3 + rope 1x64 bf16)`.
  public static String words(BlockLayout layout) {
    boolean isOneType = layout.planes().stream().map(Plane::type).distinct().count() == 1;
    String planes = layout.planes().stream()
        .map(plane -> "%s %dx%d%s".formatted(lower(plane.kind()), plane.heads(), plane.width(),
            isOneType ? "" : " " + lower(plane.type())))
        .collect(Collectors.joining(" + "));
    return "%s = %d layers x %d tokens x (%s)%s, %s".formatted(Sizes.exact(layout.blockBytes()), layout.layers(),
        layout.tokens(), planes, isOneType ? " x " + lower(layout.planes().getFirst().type()) : "",
        lower(layout.order()));
  }

  /// `space` as [#words(BlockLayout)], with the window of its group or the distance of its states, and its fingerprint.
  public static String words(CacheSpace space) {
    CacheSpace.Group group = space.group();
    return words(space.layout()) + (group.windowTokens() > 0 ? ", window of " + group.windowTokens() + " tokens" : "")
        + (group.stateTokens() > 0 ? ", a state every " + group.stateTokens() + " tokens" : "")
        + (space.fingerprint().isEmpty() ? "" : ", fingerprint " + space.fingerprint());
  }

  private static String lower(Enum<?> name) {
    return name.name().toLowerCase(Locale.ROOT);
  }
}
