package io.penstock.node.serve;

import io.penstock.node.config.AscendSettings;
import io.penstock.node.option.SettingOptions;
import io.penstock.node.setting.Setting;
import io.penstock.node.setting.Topic;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;

/// The page of help about the settings of Ascend devices, which `serve --help` leaves out.
public final class AscendPage {
  /// Name of this page for `penstock help`.
  public static final String NAME = "ascend";

  private AscendPage() {}

  /// The page as a command line of which only the help is shown.
  public static CommandLine line() {
    CommandSpec spec = CommandSpec.create().name("penstock serve");
    List<Setting<?>> effective = AscendSettings.ALL.stream().filter(setting -> setting.noEffect().isEmpty()).toList();
    SettingOptions.addTo(spec, new Topic("Settings of Ascend devices", effective));
    spec.usageMessage().sortOptions(false).customSynopsis("penstock serve --hbm=CAPACITY --hbm-device=ascend [OPTIONS]")
        .footerHeading("%nSettings that other programs know and that have no effect here,%n")
        .footer(Stream.concat(SettingOptions.withoutEffect(AscendSettings.ALL).stream(), Stream.of(""))
            .toArray(String[]::new));
    return new CommandLine(spec);
  }
}
