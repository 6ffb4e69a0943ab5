package io.penstock.node.shape;

import io.penstock.block.BlockLayout;
import io.penstock.block.BlockLayout.TokenOrder;
import io.penstock.block.CacheSpace;
import io.penstock.block.Plane;
import io.penstock.block.Plane.ElementType;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.SettingType;
import io.penstock.node.text.Sizes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;

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
  public static final Setting<ElementType> DTYPE =
      new Setting<>("dtype", SettingType.oneOf(ElementType.class), "bf16", "Type of an element.");
  public static final Setting<TokenOrder> ORDER =
      new Setting<>("order", SettingType.oneOf(TokenOrder.class), "nhd",
          "Order of the axes inside a plane: tokens before heads, or heads before tokens.");
  public static final Setting<Optional<Integer>> BLOCK_BYTES =
      new Setting<>("block.bytes", SettingType.orAuto(SettingType.size(4, 1 << 30)), SettingType.AUTO,
          "Size of a block that stands for a model: one head as wide as the size needs. auto follows from the layout.");

  /// All settings, in the order in which people read them.
  public static final List<Setting<?>> ALL = List.of(MODEL, LAYERS, BLOCK_TOKENS, KV_HEADS, HEAD_DIM, LATENT_RANK,
      ROPE_DIM, DTYPE, ORDER, BLOCK_BYTES);

  private LayoutSettings() {}

  private static Setting<Optional<Integer>> count(String key, int max, String description) {
    return new Setting<>(key, SettingType.orAuto(SettingType.count(1, max)), SettingType.AUTO, description);
  }

  /// Flags that state `space` to another process.
  public static List<String> flags(CacheSpace space) {
    BlockLayout layout = space.layout();
    Plane first = layout.planes().getFirst();
    List<String> flags = new ArrayList<>(List.of(MODEL.flag(), space.model(), LAYERS.flag(), text(layout.layers()),
        BLOCK_TOKENS.flag(), text(layout.tokens()), DTYPE.flag(), DTYPE.type().print().apply(first.type()),
        ORDER.flag(), ORDER.type().print().apply(layout.order())));
    flags.addAll(first.kind() == Plane.Kind.LATENT
        ? List.of(LATENT_RANK.flag(), text(first.width()), ROPE_DIM.flag(), text(layout.planes().get(1).width()))
        : List.of(KV_HEADS.flag(), text(first.heads()), HEAD_DIM.flag(), text(first.width())));
    return flags;
  }

  private static String text(int count) {
    return String.valueOf(count);
  }

  /// `layout` as its product: `64 KiB = 8 layers x 16 tokens x (key 1x128 + value 1x128) x bf16, nhd`.
  public static String words(BlockLayout layout) {
    String planes = layout.planes().stream()
        .map(plane -> "%s %dx%d".formatted(lower(plane.kind()), plane.heads(), plane.width()))
        .collect(Collectors.joining(" + "));
    return "%s = %d layers x %d tokens x (%s) x %s, %s".formatted(Sizes.exact(layout.blockBytes()), layout.layers(),
        layout.tokens(), planes, lower(layout.planes().getFirst().type()), lower(layout.order()));
  }

  private static String lower(Enum<?> name) {
    return name.name().toLowerCase(Locale.ROOT);
  }
}
