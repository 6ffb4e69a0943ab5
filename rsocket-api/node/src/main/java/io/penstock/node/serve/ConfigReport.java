package io.penstock.node.serve;

import io.penstock.node.cli.Console;
import io.penstock.node.cli.TextTable;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.NodeConfig.Effective;
import java.util.List;
import java.util.Locale;

/// Shows what is configured and who said so.
final class ConfigReport {
  /// A row of the report in JSON.
  record Row(String key, String value, String source, String origin, String variable, String flag) {}

  private ConfigReport() {}

  static void print(NodeConfig config, Console console, boolean json) {
    if (json) {
      console.json(config.effective().stream().map(ConfigReport::row).toList());
      return;
    }
    TextTable table = new TextTable("KEY", "VALUE", "FROM");
    List<Effective> all = config.effective();
    all.forEach(one -> table.row(one.setting().key(), one.text(), one.origin()));
    console.out().print(table);
  }

  private static Row row(Effective one) {
    return new Row(one.setting().key(), one.text(), one.origin().kind().name().toLowerCase(Locale.ROOT), one.origin().where(),
        one.setting().variable(), one.setting().flag());
  }
}
