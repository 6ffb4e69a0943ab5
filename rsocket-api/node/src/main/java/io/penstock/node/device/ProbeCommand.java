package io.penstock.node.device;

import static java.util.Objects.requireNonNull;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import io.penstock.device.ascend.AscendDevices;
import io.penstock.device.ascend.AscendProbe;
import io.penstock.device.ascend.AscendProbe.DeviceFacts;
import io.penstock.device.ascend.AscendProbe.FeatureFacts;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.AscendSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import io.penstock.node.option.ConfigReport;
import io.penstock.node.text.Sizes;
import io.penstock.node.text.TextTable;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `penstock device probe`: shows the library that is found.
@Command(
    name = "probe",
    description = {"Shows the library of Ascend devices that is found, its features and its settings.", "",
      "Ends with 69 if there is none. A library that lacks a needed function, or has other structs, is an error.",
      ""},
    mixinStandardHelpOptions = true,
    footerHeading = "%nExample:%n",
    footer = {"  penstock device probe --ascend-lib /usr/local/Ascend/latest/lib64/libascendcl.so --json", ""})
final class ProbeCommand implements Callable<Integer> {
  private final Console console;

  @Mixin
  private final LibraryOption library;

  @Option(names = "--json", description = "Print what was found as one JSON document.")
  private boolean json;

  ProbeCommand(Console console) {
    this.console = console;
    this.library = new LibraryOption(console.environment());
  }

  @Override
  public Integer call() {
    Optional<AscendDevices> found = library.find();
    if (found.isEmpty()) {
      if (json) {
        console.json(Map.of("found", false, "lookedFor", AscendDevices.lookedFor(library.options())));
      } else {
        console.print("no Ascend devices: looked for " + AscendDevices.lookedFor(library.options())
            + "; --ascend-lib names another library");
      }
      return ExitCode.UNAVAILABLE;
    }
    AscendDevices devices = found.get();
    try {
      print(requireNonNull(devices.probe().block(), "probe"));
    } finally {
      devices.close().block();
    }
    return ExitCode.OK;
  }

  /// The library that was found, and the settings that it is used with.
  record Found(@JsonUnwrapped AscendProbe probe, List<ConfigReport.Row> settings) {}

  private void print(AscendProbe probe) {
    NodeConfig config = library.config(Map.of());
    if (json) {
      console.json(new Found(probe, ConfigReport.rows(config, ProbeCommand::isOfDevices)));
    } else {
      console.out().print(table(probe) + "\n" + ConfigReport.text(config, ProbeCommand::isOfDevices));
      console.requireHeard();
    }
  }

  private static boolean isOfDevices(Effective one) {
    return AscendSettings.ALL.contains(one.setting());
  }

  private static String table(AscendProbe probe) {
    TextTable devices = new TextTable("DEVICE", "PHYSICAL", "FREE");
    for (DeviceFacts each : probe.devices()) {
      devices.row(String.valueOf(each.logicalId()), String.valueOf(each.physicalId()),
          each.freeBytes() < 0 ? "unknown" : Sizes.human(each.freeBytes()));
    }
    TextTable features = new TextTable("FEATURE", "STATE", "FOR");
    for (FeatureFacts each : probe.features()) {
      features.row(each.name(), each.on() ? "on" : "off: no " + String.join(", ", each.missing()), each.meaning());
    }
    return "library %s, like CANN %s, chip %s\n\n%s\n%s".formatted(probe.library(), probe.release(),
        probe.soc().isEmpty() ? "unknown" : probe.soc(), devices, features);
  }
}
