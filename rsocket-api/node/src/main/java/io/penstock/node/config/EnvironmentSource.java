package io.penstock.node.config;

import io.penstock.node.setting.Origin;
import io.penstock.node.setting.Setting;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/// Reads settings from variables `PENSTOCK_…`, and from variables of other programs that are aliases of a setting. An
/// unknown variable of the first form is a mistake, with exceptions: variables of the launcher, the secrets of clients,
/// and those that Kubernetes adds for a service named `penstock`. An empty variable of another program does not count.
final class EnvironmentSource {
  /// Names the configuration file, like `--config`.
  static final String CONFIG = "PENSTOCK_CONFIG";

  private static final Set<String> NOT_SETTINGS =
      Set.of(CONFIG, "PENSTOCK_JAVA_HOME", "PENSTOCK_JAVA_OPTS", "PENSTOCK_TOKEN", "PENSTOCK_PASSWORD");
  private static final Pattern KUBERNETES =
      Pattern.compile("PENSTOCK_(SERVICE_HOST|SERVICE_PORT(_.*)?|PORT(_\\d+_(TCP|UDP|SCTP)(_.*)?)?)");

  private EnvironmentSource() {}

  static void read(Map<String, String> environment, List<Given> given, List<String> problems) {
    NodeSettings.ALL.forEach(setting -> readAliases(setting, environment, given));
    readOwn(environment, given, problems);
  }

  /// Reads aliases in reverse order of precedence, since the last one wins.
  private static void readAliases(Setting<?> setting, Map<String, String> environment, List<Given> given) {
    for (String name : setting.aliases().reversed()) {
      String text = environment.getOrDefault(name, "");
      if (!text.isBlank()) {
        given.add(new Given(setting, text, Origin.ofEnvironment(name)));
      }
    }
  }

  private static void readOwn(Map<String, String> environment, List<Given> given, List<String> problems) {
    new TreeMap<>(environment).forEach((name, text) -> {
      if (!name.startsWith("PENSTOCK_") || NOT_SETTINGS.contains(name) || KUBERNETES.matcher(name).matches()) {
        return;
      }
      Origin origin = Origin.ofEnvironment(name);
      NodeSettings.byVariable(name).ifPresentOrElse(setting -> given.add(new Given(setting, text, origin)),
          () -> problems.add(UnknownName.problem("variable", name,
              new Origin(Origin.Kind.ENVIRONMENT, "the environment"), Setting::variable)));
    });
  }
}
