package io.penstock.node.option;

import io.penstock.block.CacheSpace;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.Topic;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.shape.LayoutSettings;
import io.penstock.node.shape.ModelSize;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;

/// The model whose blocks a trace counts, as the layout options of a command state it: of a preset, of dimensions, or
/// of a size. Without any of them it is [#DEFAULT_MODEL].
///
/// A block has as many tokens as `--block-tokens` states, else as the form of the trace has.
public final class TraceLayout {
  /// The model when none is stated.
  public static final String DEFAULT_MODEL = "llama-3.1-8b";

  /// Options that change the blocks of a model and do not state one.
  private static final Set<Setting<?>> DETAILS =
      Set.of(LayoutSettings.BLOCK_TOKENS, LayoutSettings.DTYPE, LayoutSettings.ORDER);

  /// All but the fingerprint: it changes no size.
  private static final List<Setting<?>> SETTINGS =
      LayoutSettings.ALL.stream().filter(setting -> !setting.equals(LayoutSettings.FINGERPRINT)).toList();

  private final Map<Setting<?>, String> given;
  private final boolean isOfNode;

  private TraceLayout(Map<Setting<?>, String> given, boolean isOfNode) {
    this.given = given;
    this.isOfNode = isOfNode;
  }

  /// Gives a command the options, as the model transformer of its annotation.
  public static final class Options implements IModelTransformer {
    private static final Topic TOPIC = new Topic("Model, of which a trace counts the blocks",
        SETTINGS.stream().<Setting<?>>map(Options::ofTrace).toList());

    @Override
    public CommandSpec transform(CommandSpec spec) {
      SettingOptions.addWithoutVariables(spec, TOPIC);
      return spec;
    }

    private static Setting<?> ofTrace(Setting<?> setting) {
      if (setting.equals(LayoutSettings.MODEL)) {
        return new Setting<>(setting.key(), LayoutSettings.MODEL.type(), DEFAULT_MODEL,
            "Name of a model that `penstock models` lists, or any name beside dimensions.");
      }
      return setting.equals(LayoutSettings.BLOCK_TOKENS)
          ? new Setting<>(setting.key(), LayoutSettings.BLOCK_TOKENS.type(), setting.initial(),
              "Tokens of a block; auto is as the form of the trace has it: 512 in the Mooncake form, 16 in the"
                  + " Qwen-Bailian form.")
          : setting;
    }
  }

  /// The model that the options of `spec` state.
  ///
  /// @throws IllegalArgumentException if they fit no layout
  public static TraceLayout of(CommandSpec spec) {
    Map<Setting<?>, String> given = given(spec);
    if (DETAILS.containsAll(given.keySet())) {
      given.put(LayoutSettings.MODEL, DEFAULT_MODEL);
    }
    return checked(new TraceLayout(given, false));
  }

  /// The model of a node that runs already: `--block-tokens` is of its blocks, and those of the trace are as its form
  /// has them.
  ///
  /// @throws IllegalArgumentException if the options fit no layout
  public static TraceLayout ofNode(CommandSpec spec) {
    return checked(new TraceLayout(given(spec), true));
  }

  private static TraceLayout checked(TraceLayout layout) {
    layout.size(BlockShape.DEFAULT_TOKENS, ModelSize.DEFAULT_PREFILL_RATE);
    return layout;
  }

  private static Map<Setting<?>, String> given(CommandSpec spec) {
    return new LinkedHashMap<>(SettingOptions.given(spec.commandLine().getParseResult(), LayoutSettings.ALL));
  }

  /// @param reason the end of *… must be left out*
  /// @throws IllegalArgumentException if any of the options was given
  public static void requireNone(CommandSpec spec, String reason) {
    given(spec).forEach((setting, text) -> {
      throw new IllegalArgumentException(
          "%s must be left out %s (was %s)".formatted(setting.flag(), reason, text));
    });
  }

  /// Whether the options state the size of a block, and no model.
  public boolean isSized() {
    return given.containsKey(LayoutSettings.BLOCK_BYTES);
  }

  /// Size of the blocks of a trace.
  ///
  /// @param formTokens tokens of a block in the form of the trace
  /// @param prefillRate tokens a second
  public ModelSize size(int formTokens, double prefillRate) {
    NodeConfig stated = config(given);
    int tokens = isOfNode ? formTokens : stated.get(LayoutSettings.BLOCK_TOKENS).orElse(formTokens);
    return new ModelSize(name(stated), tokens, isSized() ? space().layout().blockBytes() : blockBytes(tokens),
        prefillRate);
  }

  /// Bytes of a block in all layers, from the bytes of one token, so that a block may be larger than any that a node
  /// has. Of a model with several KV groups those of all groups, and of a state its share of the block.
  private long blockBytes(int tokens) {
    return groups(1).stream().map(NodeConfig::space).mapToLong(space -> Math.ceilDiv(
        (long) space.layout().blockBytes() * tokens, space.group().strideTokens(space.layout()))).sum();
  }

  /// Configuration of each KV group of the model with blocks of `tokens`; one for a model without groups.
  public List<NodeConfig> groups(int tokens) {
    return whole(tokens).groups();
  }

  /// Space of blocks as the options state them, for a node.
  public CacheSpace space() {
    Map<Setting<?>, String> stated = new LinkedHashMap<>(given);
    if (isSized() && !isOfNode) {
      stated.remove(LayoutSettings.BLOCK_TOKENS); // of the trace, where a size stands for the block
    }
    return config(stated).ofOneGroup().space();
  }

  /// Space of blocks of `tokens`, in the layout of the model.
  public CacheSpace space(int tokens) {
    return whole(tokens).space();
  }

  private NodeConfig whole(int tokens) {
    Map<Setting<?>, String> whole = new LinkedHashMap<>(given);
    whole.put(LayoutSettings.BLOCK_TOKENS, String.valueOf(tokens));
    return config(whole);
  }

  private String name(NodeConfig stated) {
    return given.containsKey(LayoutSettings.MODEL) || isOfNode
        ? stated.get(LayoutSettings.MODEL)
        : isSized() ? "a block of a stated size" : "a model of stated dimensions";
  }

  private static NodeConfig config(Map<Setting<?>, String> flags) {
    return NodeConfig.resolve(null, Map.of(), flags);
  }
}
