"""Models that no manifest lists."""

from __future__ import annotations

from krafla.manifest import Model


def model_of(module, config, **fields):
    """Return a model of two files that no manifest lists; nothing is expected of its counts."""
    module, config = module.resolve(), config.resolve()
    return Model(
        name=fields.pop("name", config.stem),
        module=module,
        config=config,
        search_path=fields.pop("search_path", (module.parent,)),
        spec=fields.pop("spec", module.stem),
        **fields,
    )
