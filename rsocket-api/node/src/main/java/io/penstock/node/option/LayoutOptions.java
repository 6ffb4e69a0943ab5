package io.penstock.node.option;

import io.penstock.block.CacheSpace;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.shape.LayoutSettings;
import java.util.Map;
import picocli.CommandLine.IModelTransformer;
import picocli.CommandLine.Model.CommandSpec;

/// Gives a command the options that state a model's layout, as the model transformer of its annotation. Picocli applies
/// it to a command that is made by `new CommandLine(…)`, and to the commands below it.
public final class LayoutOptions implements IModelTransformer {
  @Override
  public CommandSpec transform(CommandSpec spec) {
    SettingOptions.addWithoutVariables(spec, LayoutPage.TOPIC);
    return spec;
  }

  /// The space that the options of `spec` state, and no variable or file.
  public static CacheSpace space(CommandSpec spec) {
    return NodeConfig
        .resolve(null, Map.of(), SettingOptions.given(spec.commandLine().getParseResult(), LayoutSettings.ALL))
        .ofOneGroup().space();
  }
}
