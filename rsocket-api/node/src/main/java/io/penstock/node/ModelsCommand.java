package io.penstock.node;

import io.penstock.block.Plane.ElementType;
import io.penstock.node.cli.Console;
import io.penstock.node.shape.BlockShape;
import io.penstock.node.shape.KvShape;
import io.penstock.node.shape.ModelGroup;
import io.penstock.node.shape.ModelPreset;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `penstock models`: the models whose layout `--model` knows.
@Command(
    name = "models",
    description = {"Lists the models whose layout --model knows.", "",
      "A model whose layers differ has a line and a space of blocks for each KV group: layers that see all tokens, a"
          + " window of so many, or keep a state that is stored every so many. KV HEADS is heads x dimension, or latent"
          + " + rotary part (MLA); --json lists planes, numbers of layers and the config.json of each model. BLOCK is"
          + " the size of " + BlockShape.DEFAULT_TOKENS
          + " tokens, or of a state; A TOKEN the bytes for each token of a"
          + " prompt; both in bf16, unless the model has types of its own. Any other model is stated by --layers,"
          + " --kv-heads and --head-dim, by --latent-rank and --rope-dim, by --planes, or by --kv-groups.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExamples:%n",
    footer = {"  penstock models", "  penstock serve --model llama-3.1-8b --dram 8GiB", ""})
final class ModelsCommand implements Runnable {
  private static final ElementType TYPE = ElementType.BF16;

  /// A model in JSON.
  ///
  /// @param layer content of a layer of the first group
  /// @param blockBytes of a block of `blockTokens` tokens, over all groups kept by token
  /// @param bytesPerToken of a prompt, over all groups
  /// @param groups KV cache groups
  /// @param kvGroups value of `--kv-groups` for the model
  record Row(String model, int layers, String layer, int blockTokens, long blockBytes, long bytesPerToken,
      List<OfGroup> groups, String kvGroups, String source) {
    static Row of(ModelPreset preset) {
      List<OfGroup> groups = preset.groups().stream().map(OfGroup::of).toList();
      return new Row(preset.name(), preset.layers(), groups.getFirst().layer(), BlockShape.DEFAULT_TOKENS,
          groups.stream().filter(group -> group.stateTokens() == 0).mapToLong(OfGroup::blockBytes).sum(),
          preset.bytesPerToken(TYPE), groups, preset.kvGroups(), preset.source());
    }
  }

  /// @param numbers of the layers in the model
  /// @param layer content of a layer for a token, or its state
  /// @param windowTokens 0 without a sliding window
  /// @param stateTokens tokens from one state to the next; 0 for a cache by token
  record OfGroup(String name, int layers, List<Integer> numbers, String layer, int windowTokens, int stateTokens,
      int blockBytes, long bytesPerToken) {
    static OfGroup of(ModelGroup group) {
      return new OfGroup(group.name(), group.layers().count(), group.layers().numbers(), words(group.shape()),
          group.windowTokens(), group.stateTokens(), group.layout(BlockShape.DEFAULT_TOKENS, TYPE).blockBytes(),
          group.bytesPerToken(TYPE));
    }

    private static String words(KvShape shape) {
      return switch (shape) {
        case KvShape.Heads heads -> heads.kvHeads() + " x " + heads.headDim();
        case KvShape.Latent latent -> "%d + %d (MLA)".formatted(latent.rank(), latent.ropeDim());
        case KvShape.Planes planes -> planes.toString();
      };
    }
  }

  private final Console console;

  @Option(names = "--json", description = "Print the models as JSON.")
  private boolean json;

  ModelsCommand(Console console) {
    this.console = console;
  }

  @Override
  public void run() {
    if (json) {
      console.json(ModelPreset.ALL.stream().map(Row::of).toList());
      return;
    }
    TextTable table = new TextTable("MODEL", "GROUP", "LAYERS", "KV HEADS", "BLOCK", "A TOKEN");
    for (ModelPreset preset : ModelPreset.ALL) {
      for (ModelGroup group : preset.groups()) {
        OfGroup row = OfGroup.of(group);
        table.row(preset.name(), reach(group), row.layers(), shortly(group.shape()), Sizes.exact(row.blockBytes()),
            Sizes.exact(row.bytesPerToken()));
      }
    }
    console.out().print(table);
    console.requireHeard();
  }

  /// `full`, `window 1024` or `state 512`.
  private static String reach(ModelGroup group) {
    return group.stateTokens() > 0
        ? "state " + group.stateTokens()
        : group.windowTokens() > 0 ? "window " + group.windowTokens() : "full";
  }

  /// Content of a layer, in the width of a column.
  private static String shortly(KvShape shape) {
    return shape instanceof KvShape.Planes planes ? planes.parts().size() + " planes" : OfGroup.words(shape);
  }
}
