package io.penstock.node.config;

import io.penstock.node.setting.Origin;
import io.penstock.node.setting.Setting;

/// A value that a source gives for a setting.
record Given(Setting<?> setting, String text, Origin origin) {}
